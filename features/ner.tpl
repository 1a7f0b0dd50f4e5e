# Named entities, for any language and text; needs words only, no other files.
#
# ner-finkel.tpl is the set that the literature uses for news; this one adds the word in lower
# case and marks of web text, and says what everything is for.

bias

# The word, as it is and without capitals; `lower` can stand wherever a column can.
word
lower

# Its neighbors, without capitals, which their shapes have: [-1] is the one before, [+1] the one
# after. What lies outside the sentence is empty, and that is an attribute too: it says that the
# sentence begins or ends there.
lower[-1]
lower[+1]

# Beginnings and ends of <word>, up to 5 characters of it: <L, <Lo, ... on>, n>
affixes(2..6)

# What words look like. dan2 writes `Xx` for London, `d-d` for 10-12, `X:2` for EU; a final k says
# that the word is known in lower case, so the capital may be that of a sentence start.
shape(dan2)
shape(dan2)[-1]
shape(dan2)[+1]

# `&` joins values to one attribute, as in `lower[-1]|shape(dan2)[0]=in|Xx`.
lower[-1] & shape(dan2)
shape(dan2) & lower[+1]
shape(dan2)[-1] & shape(dan2)
shape(dan2) & shape(dan2)[+1]
shape(dan2)[-1] & shape(dan2) & shape(dan2)[+1]

# Two words away, where the word between is short (`of`, `de`, `-`)
lower[-2] & shape(dan2) if length(word[-1]) <= 3
lower[+2] & shape(dan2) if length(word[+1]) <= 3

# Words within four tokens, wherever
bag(lower, 1..4)
bag(lower, -4..-1)

# Titles such as Mr. and Judge; whether a name recurs in the sentence
title
occurrence

# User names, hash tags and addresses, in tweets and on the web
regex("^[@#].")
regex("^(?:https?:|www\.)")

# With a list of names at hand: lexicon("names.txt", lower)
