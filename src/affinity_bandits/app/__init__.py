"""A local web application: see the loop, plan a comparison, audit a file.

Pages parse forms and render what `show`, `planning` and `audit` return. The server keeps no state:
a page is a function of its address, and an uploaded file lives as long as its request.
"""

from affinity_bandits.base import errors

errors.need("app", "fastapi", "jinja2", "uvicorn")
