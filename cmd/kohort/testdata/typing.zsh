# typing.zsh LINE...: types each line and Tab in an interactive zsh of its own, which has ./completion. Prints for each what
# the line has become, a bar, and all that was offered.
zmodload zsh/zpty
zpty inner zsh -f -i
until_it_says() { zpty -r -m inner said "*$1*" || { print -r -- "zsh ended: $said"; exit 1 } }
zpty -w inner 'PROMPT=; unsetopt zle_bracketed_paste beep; autoload -U compinit && compinit -u -D; source ./completion
compadd() {
  local -a hits
  builtin compadd -A hits "$@"
  offered+=("${hits[@]}")
  builtin compadd "$@"
}
tab() { offered=(); zle complete-word; print -r -- "<""<$BUFFER|${offered[*]}>>"; zle kill-buffer }
zle -N tab; bindkey "^I" tab; print rea""dy'
until_it_says ready
for line; do
  zpty -w -n inner "$line"$'\t'
  until_it_says '<<*>>'
  said=${said##*<<}
  print -r -- ${said%%>>*}
done
zpty -d inner
