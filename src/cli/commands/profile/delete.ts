import { command } from '../../command.js'
import { flag, required } from '../../input/input.js'
import { text } from '../../input/value-kind.js'
import { safe } from '../../screen/safe-text.js'
import { usageError } from '../../usage-error.js'

export const deleteProfile = command({
  name: 'profile delete',
  summary: 'Delete a profile and all it holds',
  description: 'Its agents, sessions and journal are gone for good, so it must be confirmed with --yes.',
  examples: [['skein profile delete play --yes', 'Delete a profile and everything in it']],
  args: { name: required(text('name', 'profile'), 'Its name') },
  options: { yes: flag('Yes, delete everything in it') },
  async run({ name, yes }, { out, profiles }) {
    if (!yes) {
      throw usageError(
        `Deleting profile ${JSON.stringify(name)} deletes everything in it`,
        `If you mean it: skein profile delete ${name} --yes`,
      )
    }
    await profiles.remove(name)
    out.result({ deleted: name }, () => safe`Deleted profile ${name}`)
  },
})
