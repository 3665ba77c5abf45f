"""The kinds of characters that splitter and tokeniser tell apart, as small integers in reading order of the rules.

The numbers are bits too, so that eight kinds are tested at a time: EVENT_BIT is set in those that the splitter stops
at, TOKEN_BIT in token characters; what has no TOKEN_BIT separates, is ignored or extends what stands before it.
"""

from __future__ import annotations

SEPARATOR = 0
IGNORED = 1  # zero-width, soft hyphen, variation selectors: as if they were not there
MARK = 2  # extends the character before; without one it is nothing
OPENER = 3
QUOTE = 4  # " and ': open or close
COMMA = 5  # where a sentence goes on, and where over-long text is best cut
DASH = 6
BLANK = 7
NEWLINE = 8
PARAGRAPH = 9  # form feed, U+2029
FULL_STOP = 10  # the ASCII period, the only terminator that abbreviations share
STRONG_STOP = 11  # ! ? and their like: need a blank after them
BARE_STOP = 12  # full-width stops and dandas: need no blank
ELLIPSIS = 13
CLOSER = 14
BULLET = 15  # starts an item even in the middle of a line
CONTINUATION = 16  # not a character: the second to fourth byte of one
DIGIT = 32
LOWER = 33
UPPER = 34
CASELESS = 35
UNSPACED = 36  # Han, kana, bopomofo: bigrams
CLUSTER = 40  # Thai, Lao, Khmer, Myanmar: trigrams of clusters

EVENT_BIT = 8
TOKEN_BIT = 32
FIRST_TOKEN_KIND = DIGIT
