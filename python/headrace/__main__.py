"""`python -m headrace`: the command line."""

from headrace._src.command_line import main

raise SystemExit(main())
