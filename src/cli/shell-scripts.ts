import { COMPLETE_WORD } from './route.js'

export const SHELLS = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof SHELLS)[number]

/**
 * Each asks `skein __complete <shell> <words...>` for lines of value, tab, description. The words go as arguments, never
 * through `eval`: what stands on an unfinished command line must not be run.
 */
export const SHELL_SCRIPTS: Readonly<Record<Shell, string>> = {
  bash: `# bash completion for skein
_skein() {
  local value rest cur=\${COMP_WORDS[COMP_CWORD]}
  [[ $cur == '=' ]] && cur=
  COMPREPLY=()
  while IFS=$'\\t' read -r value rest; do
    if [[ $value == ':directories' ]]; then
      compopt -o filenames 2>/dev/null
      while IFS= read -r value; do COMPREPLY+=("$value"); done < <(compgen -d -- "$cur")
    else
      COMPREPLY+=("$value")
    fi
  done < <(skein ${COMPLETE_WORD} bash "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _skein skein
`,
  zsh: `#compdef skein
# zsh completion for skein
_skein() {
  local value description
  local -a described
  while IFS=$'\\t' read -r value description; do
    if [[ $value == ':directories' ]]; then
      _files -/
      return
    fi
    described+=("\${value//:/\\\\:}\${description:+:$description}")
  done < <(skein ${COMPLETE_WORD} zsh "\${(@Q)words[2,CURRENT]}" 2>/dev/null)
  _describe 'skein' described
}
if [[ \${funcstack[1]} == _skein ]]; then
  _skein "$@"
else
  (( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
  compdef _skein skein
fi
`,
  fish: `# fish completion for skein
function __skein_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l values (skein ${COMPLETE_WORD} fish $words[2..-1] "$current" 2>/dev/null)
    if test "$values[1]" = ':directories'
        __fish_complete_directories "$current"
    else
        printf '%s\\n' $values
    end
end
complete -c skein -f -a '(__skein_complete)'
`,
}
