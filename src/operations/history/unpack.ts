import type { UnpackReceipt } from '../../lifecycle/index.js'
import { optional, required } from '../field.js'
import { count, path, text } from '../kind.js'
import { operation } from '../operation.js'
import { present } from '../present.js'

export const unpack = operation({
  name: 'unpack',
  does: 'acts',
  where: 'either',
  isHeavy: true,
  summary: 'Make an agent from a file that skein pack wrote',
  description:
    'Checks every byte first, and refuses a damaged file with nothing changed. Makes a directory with the code, as a git repository where the source was one, writes the conversation as a log of the program, with the paths of the new directory, and adds an agent whose session names its origin; skein start then resumes it. Nothing is started, and nothing that the file names is run. Unpacking a file again makes another copy. If a step fails, everything is undone.',
  input: {
    file: required(path('file'), 'The file'),
    into: optional(path('directory', 'directory'), 'The directory to make', { fallback: 'after the agent, here' }),
    tool: optional(text('tool'), 'The program that continues', { fallback: 'that of the session' }),
    name: optional(text('name'), 'Address of the agent', { fallback: 'as it was' }),
    max_gb: optional(count, 'Refuse code whose files take more gigabytes', { fallback: '8' }),
    passphrase_file: optional(path('file'), 'A file with the passphrase, on one line'),
  },
  result: 'unpack-receipt',
  async run({ file, ...given }, { agents, cwd }): Promise<UnpackReceipt> {
    return (await agents()).unpack({ file, ...present(given), ...(cwd === undefined ? {} : { here: cwd }) })
  },
})
