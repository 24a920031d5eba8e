import { command } from '../../command.js'
import { archiveCard } from '../../views/archive-view.js'

export const stats = command({
  name: 'archive stats',
  summary: 'Count what is archived and show how long it is kept',
  description:
    'Everything is kept unless config.toml says otherwise: [archive] with max_age (such as "365d") and max_size (such as "2GB").',
  examples: [['skein archive stats', 'How much is there?']],
  args: {},
  options: {},
  async run(_, { home, out }) {
    const counted = await (await home()).archive.stats()
    out.result(counted, (screen) => archiveCard(counted, screen))
  },
})
