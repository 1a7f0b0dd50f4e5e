# Named entities: the node features of ner-finkel.tpl, and features of label pairs.
#
# An `edge:` template is crossed with the label before and the label here, so it costs a weight
# for every pair of labels: expect a larger model and slower training. The bare transition is
# always there.

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

# Label pairs and the words there
edge: word[0]
edge: word[-1] & word[0]
edge: word[-1]

# Label pairs and the shapes there
edge: shape(dan2)[-1]
edge: shape(dan2)[0]
edge: shape(dan2)[-1] & shape(dan2)[0]
edge: shape(dan2)[+1]
