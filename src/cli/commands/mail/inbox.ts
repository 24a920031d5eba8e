import { mailInbox } from '../../../operations/index.js'
import { ownAgent } from '../../input/own-agent.js'
import { operationCommand } from '../../operation-command.js'
import { safe } from '../../screen/safe-text.js'
import { mailTable } from '../../views/work-view.js'

export const inbox = operationCommand(mailInbox, {
  name: 'mail inbox',
  description: `${mailInbox.description} Outside of an agent it is your own.`,
  examples: [
    ['skein mail inbox web/toast', 'What an agent has not read'],
    ['skein mail inbox --all', 'All of your own'],
  ],
  args: ['agent'],
  fields: { agent: ownAgent('Whose inbox: an agent, a role or a person') },
  prepare: ({ agent, ...typed }, { currentAgent, actor }) => ({ ...typed, agent: agent ?? currentAgent ?? actor }),
  async show({ mail, unread }, { out, home, currentAgent, actor }, { agent = currentAgent ?? actor }) {
    if (mail.length === 0 && !out.json) {
      const isAgent = agent === actor || (await (await home()).roster.agent(agent).catch(() => undefined)) !== undefined
      return out.note(safe`No mail for ${agent}${isAgent ? '' : ': no agent has that address'}`)
    }
    out.result({ mail, unread }, (screen) => mailTable(mail, screen))
  },
})
