"""How names and the blanks between words are written: pieces of regular expressions for statements."""

#: Blanks and comments.
NOTHING = r"(?:\s|--[^\n]*(?:\n|$)|/\*.*?\*/)*"
WORD = r'"(?:[^"]|"")+"|[A-Za-z_]\w*'
#: In front of the name of what a session has in its schema main.
OWN = r"(?:(?:(?:memory|temp)\s*\.\s*)?main\s*\.\s*)?"
#: A name, with that of its schema in front: two groups.
QUALIFIED = rf"(?:(?:memory|temp)\s*\.\s*)?(?:({WORD})\s*\.\s*)?({WORD})"
