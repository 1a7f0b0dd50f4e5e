# Named entities: the node features of Finkel et al. (2005), as used by Wang et al. (2013).
#
# Numbers are rows of the feature table that the paper's recognizer implements. Outside the
# sentence words and shapes are empty, and that is an attribute too. Edges have the bare
# transition only; ner-finkel-edges.tpl adds features of label pairs.
#
# Two details differ from the run of Wang et al.: here affixes have up to 6 characters, brackets
# included, and the k of shapes means that the word is in lower case anywhere in the training data.
# There affixes have any length, and the k means in lower case up to this token, as the data were
# read. For affixes of any length, change this file with
#     sed 's/affixes(2..6)/affixes(2..)/'

# 1: always there
bias

# 2-4: this word, the one before, the one after
word[0]
word[-1]
word[+1]

# 5: beginnings and ends of <word>; the brackets count, so up to 5 characters of the word
affixes(2..6)

# 6-8: shapes; dan2 is the better of the two Stanford shapes on news
shape(dan2)[0]
shape(dan2)[-1]
shape(dan2)[+1]

# 9-10: a neighbor and this shape
word[-1] & shape(dan2)[0]
shape(dan2)[0] & word[+1]

# 11-13: shapes in a row
shape(dan2)[-1] & shape(dan2)[0]
shape(dan2)[0] & shape(dan2)[+1]
shape(dan2)[-1] & shape(dan2)[0] & shape(dan2)[+1]

# 14-15: two words away, across a short word (`of`, `the`, a comma, or nothing)
word[-2] & shape(dan2)[0] if length(word[-1]) <= 3
word[+2] & shape(dan2)[0] if length(word[+1]) <= 3

# 16-23: words within four tokens, after and before; which of the four does not matter
bag(word, 1..4)
bag(word, -4..-1)

# 24: Mr., Judge, ...
title

# 25: does this name recur in the sentence?
occurrence
