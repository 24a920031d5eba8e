import { accessTo, type Delivery, ensureDaemon, WAYS } from '../../../daemon/index.js'
import { choice, repeated } from '../../../operations/index.js'
import { command } from '../../command.js'
import { safe } from '../../screen/safe-text.js'

export const test = command({
  name: 'notify test',
  summary: 'Send a test notification',
  description:
    'The daemon sends notifications when an agent begins to wait, fails or finishes; [notify] in your config file sets which, how and when. Quiet hours do not apply to the test.',
  examples: [
    ['skein notify test', 'In every configured way'],
    ['skein notify test --by tmux --json', 'In one way, for scripts'],
  ],
  args: {},
  options: { by: repeated(choice('way', WAYS), 'Only in this way') },
  async run({ by }, { daemon, profile, out }) {
    const { client } = await ensureDaemon(accessTo(daemon, profile))
    const answer = await client.post('/v1/notify', by.length > 0 ? { by } : {}, { timeoutMs: 15_000 })
    const { deliveries } = answer as { deliveries: Delivery[] } // of the same version, or of the same API
    out.result({ deliveries }, () =>
      deliveries.length === 0
        ? 'Nothing is configured: [notify] has by = []'
        : deliveries.map(({ way, failed }) => safe`${way}: ${failed ?? 'sent'}`).join('\n'),
    )
  },
})
