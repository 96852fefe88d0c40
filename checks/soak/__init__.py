"""Kill, crash and pause the service and its database, and check that nothing is lost or made up."""
