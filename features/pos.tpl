# Parts of speech from words alone, for any language that writes words apart.
#
# `lower` is the word in lower case. Most templates read it, so that a word at the start of a
# sentence shares what is learned of it elsewhere; shapes and capitalization keep the capitals.

bias

# The word, as it is and in lower case
word
lower

# Words around it: [-1] is the one before, [+1] the one after
lower[-1]
lower[+1]
lower[-2]
lower[+2]

# Pairs: `&` joins values to one attribute, as in `lower[-1]|lower[0]=to|run`.
lower[-1] & lower
lower & lower[+1]

# Beginnings and ends of 1 to 5 characters tell most of a word that training has not seen;
# endings of the neighbors say what they are likely to be.
prefix(1..5, lower)
suffix(1..5, lower)
suffix(3, lower)[-1]
suffix(3, lower)[+1]
suffix(3, lower)[-1] & suffix(3, lower)
suffix(3, lower) & suffix(3, lower)[+1]

# Looks: `Xx` for London, `d` for 1996, `x-x` for part-time
shape(collapsed)
shape(collapsed)[-1]
shape(collapsed)[+1]
shape(collapsed)[-1] & shape(collapsed)
shape(collapsed) & shape(collapsed)[+1]

# The same with the length, and whether the word is known in lower case
shape(dan2)

# lower, upper, initial, mixed or none; a capital means less at the start of a sentence
capitalization
capitalization & start

# Letters, digits, other characters: which of them occur
class
regex("[0-9]")
regex("-")
