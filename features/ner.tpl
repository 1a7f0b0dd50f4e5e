# Named entities, for any language and text; needs words only, no other files.
#
# Compare ner-finkel.tpl, the set that the literature uses for news; this one adds lower-case
# forms, which help where capitals cannot be trusted, and marks of web text.

bias

# The word and its neighbors. What lies outside the sentence is empty, and that is an attribute
# too: it says that the sentence begins or ends there.
word
word[-1]
word[+1]
word[-2]
word[+2]

# The same without capitals: `lower` can stand wherever a column can.
lower
lower[-1]
lower[+1]

# Pairs: `&` joins values to one attribute, as in `word[-1]|word[0]=New|York`.
word[-1] & word
word & word[+1]

# Beginnings and ends of <word>, up to 5 characters of it: <Lo, <Lon, ... on>, don>
affixes(2..6)

# What words look like. dan2 writes `Xx` for London, `d-d` for 10-12, `X:2` for EU; a final k says
# that the word is known in lower case, so the capital may be that of a sentence start.
shape(dan2)
shape(dan2)[-1]
shape(dan2)[+1]
shape(dan2)[-1] & shape(dan2)
shape(dan2) & shape(dan2)[+1]
shape(dan2)[-1] & shape(dan2) & shape(dan2)[+1]
word[-1] & shape(dan2)
shape(dan2) & word[+1]

# Two words away, where the word between is short (`of`, `de`, `-`)
lower[-2] & shape(dan2) if length(word[-1]) <= 3
lower[+2] & shape(dan2) if length(word[+1]) <= 3

# A capital means less at the start of a sentence.
capitalization & start

# Words within four tokens, wherever
bag(lower, 1..4)
bag(lower, -4..-1)

# A title before a name; whether a name recurs in the sentence
title
title[-1]
occurrence

# User names, hash tags and addresses, in tweets and on the web
regex("^[@#].")
regex("^(?:https?:|www\.)")

# With a list of names at hand: lexicon("names.txt", lower)
