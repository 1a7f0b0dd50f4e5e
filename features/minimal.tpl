# The smallest template file that is of use: five templates, one a line.
# Everything after `#` is a comment. docs/templates.md explains the whole language.

word            # the word itself, say `London`: the attribute `word[0]=London`
word[-1]        # the word before it; [0] is this token, [-1] the one before, [+1] the next
word[+1]        # the word after it
suffix(3)       # its last three characters, `don`: helps with words not seen in training
shape           # its shape, `Xxxxxx`: upper-case, lower-case, digits, the rest as it is

# Which label follows which (B-LOC, then I-LOC) is learned without a template.
