# Phrase chunks (CoNLL-2000): chunk.tpl, and words together with the parts of speech around them.
#
# With much training data a little more accurate, at twice the memory and time. The input has the
# word in its first column and the part of speech in its second, `column(1)`: columns count from 0.

# Words, up to two tokens away
word[-2]
word[-1]
word[0]
word[+1]
word[+2]

# Neighboring words together
word[-1] & word[0]
word[0] & word[+1]

# Parts of speech, up to two tokens away
column(1)[-2]
column(1)[-1]
column(1)[0]
column(1)[+1]
column(1)[+2]

# Two in a row
column(1)[-2] & column(1)[-1]
column(1)[-1] & column(1)[0]
column(1)[0] & column(1)[+1]
column(1)[+1] & column(1)[+2]

# Three in a row
column(1)[-2] & column(1)[-1] & column(1)[0]
column(1)[-1] & column(1)[0] & column(1)[+1]
column(1)[0] & column(1)[+1] & column(1)[+2]

# Those nineteen are the usual set for this task. Beginnings, endings and the look of the word help
# with words that training has not seen.
lower
prefix(1..4, lower)
suffix(1..3)
suffix(4, lower)
capitalization
shape(collapsed)

# A word and the parts of speech around it; without capitals, to see each more often
column(1)[-1] & lower
lower & column(1)[+1]
column(1)[-1] & lower & column(1)[+1]
column(1)[-2] & column(1)[-1] & lower
lower & column(1)[+1] & column(1)[+2]

# Parts of speech, three tokens away, and up to five in a row
column(1)[-3]
column(1)[+3]
column(1)[-3] & column(1)[-2] & column(1)[-1]
column(1)[+1] & column(1)[+2] & column(1)[+3]
column(1)[-2] & column(1)[-1] & column(1)[0] & column(1)[+1]
column(1)[-1] & column(1)[0] & column(1)[+1] & column(1)[+2]
column(1)[-2] & column(1)[-1] & column(1)[0] & column(1)[+1] & column(1)[+2]
