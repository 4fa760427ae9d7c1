"""How names and the blanks between words are written: pieces of regular expressions for statements."""

#: Blanks and comments.
NOTHING = r"(?:\s|--[^\n]*(?:\n|$)|/\*.*?\*/)*"
WORD = r'"(?:[^"]|"")+"|[A-Za-z_]\w*'
#: In front of the name of what a session has.
OWN = r"(?:(?:(?:memory|temp)\s*\.\s*)?main\s*\.\s*)?"
