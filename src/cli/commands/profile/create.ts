import { required, text } from '../../../operations/index.js'
import { command } from '../../command.js'
import { safe } from '../../screen/safe-text.js'

export const create = command({
  name: 'profile create',
  summary: 'Create a profile',
  description: 'A profile is a separate home with its own agents, sessions, journal and index.',
  examples: [['skein profile create work', 'Use it with: skein --profile work ...']],
  args: { name: required(text('name'), 'Its name') },
  options: {},
  async run({ name }, { out, profiles }) {
    const created = await profiles.create(name)
    out.result(created, () => safe`Created profile ${created.name} in ${created.directory}`)
  },
})
