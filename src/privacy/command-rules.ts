import { isPlaceholder } from './plausible-value.js'
import type { Rule } from './rule.js'

/** Programs that take a password behind a short flag, and the flag: a long one says by itself what it is. */
const COMMANDS: readonly { programs: readonly string[]; flag: RegExp }[] = [
  {
    programs: ['curl'],
    flag: /\s(?:-[a-zA-Z]{0,6}u|--user|--proxy-user)[ \t=]{0,3}["']?[^\s:"']{0,80}:(?<secret>[^\s"']{1,200})/y,
  },
  { programs: ['http '], flag: /\s(?:-a|--auth)[ \t=]{1,3}["']?[^\s:"']{1,80}:(?<secret>[^\s"']{1,200})/y },
  { programs: ['sshpass'], flag: /\s-(?:p|pw)[ \t]{0,3}["']?(?<secret>[^\s"']{1,200})/y },
  { programs: ['mysql'], flag: /\s-p["']?(?<secret>[^\s"']{1,200})/y },
  {
    programs: ['docker login', 'podman login', 'az login'],
    flag: /\s-(?:p|P)[ \t]{1,3}["']?(?<secret>[^\s"']{3,200})/y,
  },
  { programs: ['redis-cli'], flag: /\s-a[ \t]{1,3}["']?(?<secret>[^\s"']{1,200})/y },
  { programs: ['ldapsearch'], flag: /\s-w[ \t]{1,3}["']?(?<secret>[^\s"']{1,200})/y },
  { programs: ['smbclient'], flag: /\s-U[ \t]{0,3}["']?[^\s%"']{1,80}%(?<secret>[^\s"']{1,200})/y },
]
/** How much of a command line is read behind the program's name. */
const REACH = 400

export const COMMAND_RULES: readonly Rule[] = COMMANDS.map(({ programs, flag }) => ({
  name: 'command-password',
  anchors: programs.map((text) => ({ text, anyCase: false })),
  match(text, at) {
    const limit = Math.min(text.length, at + REACH)
    for (let from = at; from < limit && text[from] !== '\n'; from += 1) {
      if (text[from] !== ' ' && text[from] !== '\t') continue
      flag.lastIndex = from
      const secret = flag.exec(text)?.groups?.secret
      if (secret !== undefined && !isPlaceholder(secret))
        return { start: flag.lastIndex - secret.length, end: flag.lastIndex }
    }
    return undefined
  },
}))
