"""One file per command: it parses, calls the library, renders. The module's ``command`` is the click command."""
