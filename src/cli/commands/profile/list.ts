import { profileList } from '../../../operations/index.js'
import { operationCommand } from '../../operation-command.js'
import { table } from '../../screen/table.js'

export const list = operationCommand(profileList, {
  name: 'profile list',
  examples: [['skein profile list', 'All profiles and their directories']],
  show({ profiles }, { out }) {
    if (profiles.length === 0) return out.note('No profiles yet: the first command that records something creates one')
    out.result({ profiles }, (screen) =>
      table(
        profiles,
        [
          { header: '', text: (one) => (one.current ? '*' : ' ') },
          { header: 'PROFILE', text: (one) => one.name, shrinkTo: 12 },
          { header: 'DIRECTORY', text: (one) => one.directory, shrinkTo: 20 },
        ],
        screen,
      ),
    )
  },
})
