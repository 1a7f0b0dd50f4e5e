# Parts of speech: the features of Wang et al. (2013) for the SANCL web data, and nothing else.
# pos.tpl is the one to use; this one is for comparison with the paper.

# The word before, this word, the word after
word[-1]
word[0]
word[+1]

# Pairs of neighbors
word[-1] & word[0]
word[0] & word[+1]
