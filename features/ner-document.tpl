# Named entities in documents: ner.tpl, and lines that look at the rest of the document. Needs words
# only. docs/documents.md says what a document is (-DOCSTART-, # newdoc, the key "doc", or a file).

bias

# The word and its neighbors, as in ner.tpl
word
lower
lower[-1]
lower[+1]
affixes(2..6)
shape(dan2)
shape(dan2)[-1]
shape(dan2)[+1]
lower[-1] & shape(dan2)
shape(dan2) & lower[+1]
shape(dan2)[-1] & shape(dan2)
shape(dan2) & shape(dan2)[+1]
shape(dan2)[-1] & shape(dan2) & shape(dan2)[+1]
lower[-2] & shape(dan2) if length(word[-1]) <= 3
lower[+2] & shape(dan2) if length(word[+1]) <= 3
bag(lower, 1..4)
bag(lower, -4..-1)
title
occurrence
regex("^[@#].")
regex("^(?:https?:|www\.)")

# The words around other occurrences of a capitalized word: `Ford` after `Mr.` or before `Motors`
# elsewhere says what it is here. `run(position) exists` holds for capitalized words.
others(word[-1]) if run(position) exists
others(word[+1]) if run(position) exists
others(word[-2]) if run(position) exists
others(word[+2]) if run(position) exists

# Whether it stands in longer runs of capitalized words elsewhere, and next to which words there
others(run(position)) if run(position) exists
others(run(before)) if run(position) exists
others(run(after)) if run(position) exists

# Whether it was mentioned before, and how often it is
mention(order) if run(position) exists
mention(count) if run(position) exists

# A word at the beginning of a sentence that is seen in lower case elsewhere is no name; one that is
# capitalized inside a sentence elsewhere likely is.
mention(forms) & capitalization if run(position) exists and start exists
mention(forms) & capitalization if run(position) exists and not start exists
