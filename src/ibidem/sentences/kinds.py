"""The kinds of characters that splitter and tokeniser tell apart, as small integers in reading order of the rules.

Kinds from DIGIT on are token characters; everything below separates, is ignored or extends what stands before it.
"""

from __future__ import annotations

SEPARATOR = 0
IGNORED = 1  # zero-width, soft hyphen, variation selectors: as if they were not there
MARK = 2  # extends the character before; without one it is nothing
BLANK = 3
NEWLINE = 4
PARAGRAPH = 5  # form feed, U+2029
FULL_STOP = 6  # the ASCII period, the only terminator that abbreviations share
STRONG_STOP = 7  # ! ? and their like: need a blank after them
BARE_STOP = 8  # full-width stops and dandas: need no blank
ELLIPSIS = 9
CLOSER = 10
OPENER = 11
QUOTE = 12  # " and ': open or close
COMMA = 13  # where a sentence goes on, and where over-long text is best cut
DASH = 14
BULLET = 15  # starts an item even in the middle of a line
CONTINUATION = 16  # not a character: the second to fourth byte of one
DIGIT = 17
LOWER = 18
UPPER = 19
CASELESS = 20
UNSPACED = 21  # Han, kana, bopomofo: bigrams
CLUSTER = 22  # Thai, Lao, Khmer, Myanmar: trigrams of clusters

FIRST_TOKEN_KIND = DIGIT
