import { SkeinError } from '../../model/index.js'
import type { Cli } from '../command.js'

/** Asks a person for a passphrase, which is shown nowhere. */
export async function askPassphrase(cli: Pick<Cli, 'terminal'>, { twice }: { twice: boolean }): Promise<string> {
  const taking = cli.terminal()
  if (!taking)
    throw new SkeinError('bad-input', 'There is no terminal to ask for a passphrase', 'Use --passphrase-file <file>')
  using terminal = await taking
  const ask = (question: string): Promise<string> =>
    new Promise((resolve, reject) => {
      let typed = ''
      terminal.write(`\r\n${question}: `)
      terminal.onKeys((keys) => {
        for (const key of keys) {
          if (key === '\r' || key === '\n') return resolve(typed)
          if (key === '\x03' || key === '\x04')
            return reject(new SkeinError('bad-input', 'No passphrase was given', 'Try again'))
          if (key === '\x7f' || key === '\b') typed = [...typed].slice(0, -1).join('')
          else if (key >= ' ') typed += key
        }
      })
    })
  const first = await ask('Passphrase')
  if (twice && (await ask('Once more')) !== first)
    throw new SkeinError('bad-input', 'The two passphrases differ', 'Try again')
  return first
}
