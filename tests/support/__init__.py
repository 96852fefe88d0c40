"""What suites of several directories share; there are no tests here."""
