import { command } from '../../command.js'
import { table } from '../../screen/table.js'

export const list = command({
  name: 'profile list',
  summary: 'List profiles',
  examples: [['skein profile list', 'All profiles and their directories']],
  args: {},
  options: {},
  async run(_, { out, profile, profiles }) {
    const found = (await profiles.list()).map((one) => ({ ...one, current: one.name === profile }))
    out.result({ profiles: found }, (screen) =>
      found.length === 0
        ? ''
        : table(
            found,
            [
              { header: '', text: (one) => (one.current ? '*' : ' ') },
              { header: 'PROFILE', text: (one) => one.name, shrinkTo: 12 },
              { header: 'DIRECTORY', text: (one) => one.directory, shrinkTo: 20 },
            ],
            screen,
          ),
    )
    if (found.length === 0 && !out.json)
      out.note('No profiles yet: the first command that records something creates one')
  },
})
