// Over 400 lines: it is one table, of every command with its summary.
import type { Command } from './command.js'

/** A command that is not loaded yet: enough for help to name it. */
export interface CommandEntry {
  readonly summary: string
  load(): Promise<Command>
}

/** Commands that belong together, as help shows them. */
export interface Heading {
  readonly title: string
  readonly names: readonly string[]
}

/** A noun and what can be done with it; the whole program is the table at the top. */
export interface CommandTable {
  readonly summary: string
  readonly entries: Readonly<Record<string, CommandTable | CommandEntry>>
  /** What the noun does with a word that is none of its verbs: `skein archive web/toast`. */
  readonly otherwise?: CommandEntry
  /** Each of its verbs needs further words: alone, such a word is a name for `otherwise`, such as that of an agent. */
  readonly verbsNeedWords?: true
  /** Without it help lists the entries in one piece. */
  readonly headings?: readonly Heading[]
}

export const isNoun = (entry: CommandTable | CommandEntry): entry is CommandTable => 'entries' in entry

const verb = (summary: string, load: () => Promise<Command>): CommandEntry => ({ summary, load })

/** Every command. Each is a chunk of its own, loaded when it is asked for: this is what keeps a small command fast. */
export const COMMANDS: CommandTable = {
  summary: 'Sessions of AI coding agents as first-class objects',
  headings: [
    {
      title: 'Agents',
      names: [
        'start',
        'stop',
        'restart',
        'kill',
        'sleep',
        'wake',
        'recover',
        'down',
        'up',
        'handoff',
        'done',
        'list',
        'status',
        'why',
        'next',
        'attach',
        'spawn',
        'rename',
        'move',
      ].concat(['archive', 'unarchive', 'remove', 'agents', 'group']),
    },
    {
      title: 'Talk to agents',
      names: ['send', 'wait', 'output', 'approve', 'deny', 'answer', 'keys', 'ack', 'snooze'],
    },
    { title: 'Work', names: ['work', 'sling', 'mail', 'budget', 'checkpoint', 'step'] },
    {
      title: 'History',
      names: [
        'sessions',
        'turns',
        'fork',
        'diff',
        'rewind',
        'blame',
        'explain',
        'bisect',
        'tools',
        'search',
        'cost',
        'replay',
        'export',
        'pack',
        'unpack',
        'seance',
        'resurrect',
        'events',
      ],
    },
    {
      title: 'Upkeep',
      names: [
        'snapshots',
        'daemon',
        'ingest',
        'tool',
        'role',
        'hooks',
        'notify',
        'privacy',
        'purge',
        'index',
        'profile',
        'doctor',
        'completion',
      ],
    },
    {
      title: 'For scripts and other programs',
      names: ['prime', 'hook', 'session', 'report', 'statusline', 'conversations'],
    },
  ],
  entries: {
    start: verb('Start agents', async () => (await import('./commands/start.js')).start),
    spawn: verb('Create an agent without starting it', async () => (await import('./commands/spawn.js')).spawn),
    list: verb('List agents and what they are doing', async () => (await import('./commands/list.js')).list),
    status: verb('Count agents by status', async () => (await import('./commands/status.js')).status),
    why: verb('Show the evidence behind a status', async () => (await import('./commands/why.js')).why),
    attach: verb("Go to an agent's terminal", async () => (await import('./commands/attach.js')).attach),
    send: verb('Send a prompt to an agent', async () => (await import('./commands/send.js')).send),
    wait: verb('Wait until agents are done', async () => (await import('./commands/wait.js')).wait),
    output: verb("Print an agent's last reply", async () => (await import('./commands/output.js')).output),
    approve: verb('Allow what an agent asks for', async () => (await import('./commands/approve.js')).approve),
    deny: verb('Deny what an agent asks for', async () => (await import('./commands/deny.js')).deny),
    answer: verb("Choose an option of an agent's question", async () => (await import('./commands/answer.js')).answer),
    keys: verb('Press keys in an agent', async () => (await import('./commands/keys.js')).keys),
    ack: verb('Mark finished replies and errors as seen', async () => (await import('./commands/ack.js')).ack),
    snooze: verb('Hide a finished reply for a while', async () => (await import('./commands/snooze.js')).snooze),
    stop: verb('Stop agents gracefully', async () => (await import('./commands/stop.js')).stop),
    kill: verb('Kill agents at once', async () => (await import('./commands/kill.js')).kill),
    sleep: verb(
      'Put idle agents to sleep, to free their memory',
      async () => (await import('./commands/sleep.js')).sleep,
    ),
    wake: verb('Wake agents that are asleep', async () => (await import('./commands/wake.js')).wake),
    restart: verb(
      'Restart agents, in their conversations',
      async () => (await import('./commands/restart.js')).restart,
    ),
    handoff: verb(
      "Hand an agent's work to its next session",
      async () => (await import('./commands/handoff.js')).handoff,
    ),
    done: verb("End an agent's session with its work done", async () => (await import('./commands/done.js')).done),
    down: verb(
      'Stop every agent, to be brought back by skein up',
      async () => (await import('./commands/down.js')).down,
    ),
    up: verb('Start the agents that skein down has stopped', async () => (await import('./commands/up.js')).up),
    recover: verb('Bring back agents that went down', async () => (await import('./commands/recover.js')).recover),
    rename: verb('Rename an agent', async () => (await import('./commands/rename.js')).rename),
    move: verb('Move an agent to another group', async () => (await import('./commands/move.js')).move),
    unarchive: verb('Restore an archived agent', async () => (await import('./commands/unarchive.js')).unarchive),
    remove: verb('Remove an agent, or undo that', async () => (await import('./commands/remove.js')).remove),
    report: verb(
      'Report what an agent is doing (for programs)',
      async () => (await import('./commands/report.js')).report,
    ),
    prime: verb('Tell an agent who it is and what to do', async () => (await import('./commands/prime.js')).prime),
    hook: verb("Answer a program's hook", async () => (await import('./commands/hook.js')).hook),
    hooks: {
      summary: "Manage Skein's hooks in your own settings",
      entries: {
        install: verb(
          "Put Skein's hooks into your own settings of the agent programs",
          async () => (await import('./commands/hooks/install.js')).install,
        ),
        uninstall: verb(
          "Remove Skein's hooks from your own settings",
          async () => (await import('./commands/hooks/uninstall.js')).uninstall,
        ),
        status: verb(
          "Show whether Skein's hooks are in your own settings",
          async () => (await import('./commands/hooks/status.js')).status,
        ),
      },
    },
    doctor: verb(
      'Check the home, or record a screen that Skein cannot read',
      async () => (await import('./commands/doctor.js')).doctor,
    ),
    sessions: {
      summary: 'Browse sessions',
      entries: {
        list: verb('List sessions, newest first', async () => (await import('./commands/sessions/list.js')).list),
        show: verb('Show everything about one session', async () => (await import('./commands/sessions/show.js')).show),
        chain: verb(
          'Show the sessions of one line of work',
          async () => (await import('./commands/sessions/chain.js')).chain,
        ),
        find: verb('Find sessions by id or title', async () => (await import('./commands/sessions/find.js')).find),
        tree: verb(
          'Draw how sessions continue and fork',
          async () => (await import('./commands/sessions/tree.js')).tree,
        ),
      },
    },
    session: {
      summary: 'Record what a session does (for scripts)',
      entries: {
        start: verb('Record that a session started', async () => (await import('./commands/session/start.js')).start),
        end: verb('Record that a session ended', async () => (await import('./commands/session/end.js')).end),
        handoff: verb(
          'End a session and start the one that continues it',
          async () => (await import('./commands/session/handoff.js')).handoff,
        ),
        'log-tool': verb(
          'Record a tool call that a hook reports',
          async () => (await import('./commands/session/log-tool.js')).logTool,
        ),
        step: verb('Record a step of the plan', async () => (await import('./commands/session/step.js')).step),
        update: verb(
          'Add or correct facts about a session',
          async () => (await import('./commands/session/update.js')).update,
        ),
      },
    },
    agents: {
      summary: 'Manage the roster of agents',
      entries: {
        add: verb('Add an agent', async () => (await import('./commands/agents/add.js')).add),
        list: verb('List agents by group', async () => (await import('./commands/agents/list.js')).list),
        show: verb('Show one agent', async () => (await import('./commands/agents/show.js')).show),
        rename: verb('Rename an agent', async () => (await import('./commands/agents/rename.js')).rename),
        move: verb('Move an agent to another group', async () => (await import('./commands/agents/move.js')).move),
        archive: verb(
          'Take an agent out of the list',
          async () => (await import('./commands/agents/archive.js')).archive,
        ),
        unarchive: verb(
          'Put an agent back in the list',
          async () => (await import('./commands/agents/unarchive.js')).unarchive,
        ),
        remove: verb(
          'Remove an agent; its sessions stay',
          async () => (await import('./commands/agents/remove.js')).remove,
        ),
        'set-parent': verb(
          'Set the agent that spawned another',
          async () => (await import('./commands/agents/set-parent.js')).setParent,
        ),
        set: verb('Change facts about an agent', async () => (await import('./commands/agents/set.js')).set),
      },
    },
    group: {
      summary: 'Arrange agents in groups',
      entries: {
        create: verb('Create a group', async () => (await import('./commands/group/create.js')).create),
        rename: verb('Rename or move a group', async () => (await import('./commands/group/rename.js')).rename),
        set: verb('Change how a group is shown', async () => (await import('./commands/group/set.js')).set),
        park: verb('Start nothing in a group for now', async () => (await import('./commands/group/park.js')).park),
        unpark: verb(
          'Allow starts in a parked group again',
          async () => (await import('./commands/group/unpark.js')).unpark,
        ),
        delete: verb('Delete a group', async () => (await import('./commands/group/delete.js')).deleteGroup),
        list: verb('List groups', async () => (await import('./commands/group/list.js')).list),
      },
    },
    fork: verb('Start a new agent from a past turn', async () => (await import('./commands/fork.js')).fork),
    sling: verb(
      'Give a unit of work to an agent of a group, and start it',
      async () => (await import('./commands/sling.js')).sling,
    ),
    work: {
      summary: 'Manage units of work',
      entries: {
        add: verb('Add a unit of work', async () => (await import('./commands/work/add.js')).add),
        list: verb(
          'List units of work, the most urgent first',
          async () => (await import('./commands/work/list.js')).list,
        ),
        show: verb('Show one unit of work', async () => (await import('./commands/work/show.js')).show),
        hook: verb(
          "Put a unit on an agent's hook: what it does next",
          async () => (await import('./commands/work/hook.js')).hook,
        ),
        unhook: verb('Take a unit off its hook', async () => (await import('./commands/work/unhook.js')).unhook),
        done: verb('Record that a unit is done', async () => (await import('./commands/work/done.js')).done),
        block: verb('Record that a unit cannot go on', async () => (await import('./commands/work/block.js')).block),
      },
    },
    mail: {
      summary: 'Write to agents, roles and people',
      entries: {
        send: verb('Write to an agent, a role or a person', async () => (await import('./commands/mail/send.js')).send),
        inbox: verb(
          'List unread mail, the most urgent first',
          async () => (await import('./commands/mail/inbox.js')).inbox,
        ),
        read: verb('Read a mail, and mark it as read', async () => (await import('./commands/mail/read.js')).read),
        reply: verb('Reply to whoever wrote a mail', async () => (await import('./commands/mail/reply.js')).reply),
      },
    },
    seance: {
      summary: 'Ask past sessions, or read what they did',
      entries: {
        list: verb(
          'List past sessions that can be asked',
          async () => (await import('./commands/seance/list.js')).list,
        ),
        read: verb(
          'Print what a past session did and where it stopped',
          async () => (await import('./commands/seance/read.js')).read,
        ),
        talk: verb('Ask a past session', async () => (await import('./commands/seance/talk.js')).talk),
      },
    },
    resurrect: verb(
      'Bring back a session whose log its tool deleted',
      async () => (await import('./commands/resurrect.js')).resurrect,
    ),
    budget: {
      summary: 'Limit what agents may spend',
      entries: {
        set: verb(
          'Limit what an agent, a group or a unit of work may spend',
          async () => (await import('./commands/budget/set.js')).set,
        ),
        show: verb(
          'Show budgets and what was spent of them',
          async () => (await import('./commands/budget/show.js')).show,
        ),
        clear: verb('Remove a budget', async () => (await import('./commands/budget/clear.js')).clear),
      },
    },
    checkpoint: {
      summary: 'Save where an agent is in its work',
      entries: {
        write: verb(
          'Save where an agent is in its work',
          async () => (await import('./commands/checkpoint/write.js')).write,
        ),
        read: verb('Show the checkpoint of an agent', async () => (await import('./commands/checkpoint/read.js')).read),
        clear: verb(
          'Remove the checkpoint of an agent',
          async () => (await import('./commands/checkpoint/clear.js')).clear,
        ),
      },
    },
    step: {
      summary: 'Record the steps of the work',
      entries: {
        start: verb('Begin a step of the work', async () => (await import('./commands/step/start.js')).start),
        done: verb('End a step of the work', async () => (await import('./commands/step/done.js')).done),
      },
    },
    events: {
      summary: 'Read and maintain the journal',
      entries: {
        tail: verb(
          'Show the newest events, and follow them',
          async () => (await import('./commands/events/tail.js')).tail,
        ),
        feed: verb('Show recent activity, condensed', async () => (await import('./commands/events/feed.js')).feed),
        stats: verb(
          'Count events by type and age, and say what retention did',
          async () => (await import('./commands/events/stats.js')).stats,
        ),
        prune: verb('Remove expired events', async () => (await import('./commands/events/prune.js')).prune),
        decay: verb(
          'Show how the value of kept events has decayed',
          async () => (await import('./commands/events/decay.js')).decay,
        ),
        config: verb(
          'Show or change how long events are kept',
          async () => (await import('./commands/events/config.js')).config,
        ),
        append: verb(
          'Record an event that changes no state',
          async () => (await import('./commands/events/append.js')).append,
        ),
      },
    },
    index: {
      summary: 'Check or rebuild the index',
      entries: {
        rebuild: verb(
          'Rebuild the index from the journal and the logs',
          async () => (await import('./commands/index/rebuild.js')).rebuild,
        ),
        check: verb(
          'Compare the index with the journal',
          async () => (await import('./commands/index/check.js')).check,
        ),
      },
    },
    ingest: verb("Read new entries from the tools' logs", async () => (await import('./commands/ingest.js')).ingest),
    turns: {
      summary: "Show a session's turns, note something about one, or keep its snapshots",
      otherwise: verb("Show a session's turns", async () => (await import('./commands/turns/turns.js')).turns),
      verbsNeedWords: true,
      entries: {
        note: verb('Note something about a turn', async () => (await import('./commands/turns/note.js')).note),
        pin: verb('Keep the snapshots of a turn', async () => (await import('./commands/turns/pin.js')).pin),
        unpin: verb(
          'Let the snapshots of a turn expire again',
          async () => (await import('./commands/turns/unpin.js')).unpin,
        ),
      },
    },
    diff: verb('Show what a turn changed in the code', async () => (await import('./commands/diff.js')).diff),
    rewind: verb(
      'Put the files of a worktree back to an earlier turn',
      async () => (await import('./commands/rewind.js')).rewind,
    ),
    tools: verb("Show a session's tool calls", async () => (await import('./commands/tools.js')).tools),
    blame: verb(
      'Show which turn of which agent wrote each line of a file',
      async () => (await import('./commands/blame.js')).blame,
    ),
    explain: verb(
      'Show which sessions, turns and prompts went into a commit',
      async () => (await import('./commands/explain.js')).explain,
    ),
    bisect: verb(
      'Find the first turn after which a command fails',
      async () => (await import('./commands/bisect.js')).bisect,
    ),
    replay: verb(
      'Play a session in the terminal, turn by turn',
      async () => (await import('./commands/replay.js')).replay,
    ),
    export: verb(
      'Export a session as one file to read or share',
      async () => (await import('./commands/export.js')).exportSession,
    ),
    pack: verb('Pack a session with its code into one file', async () => (await import('./commands/pack.js')).pack),
    unpack: verb(
      'Make an agent from a file that skein pack wrote',
      async () => (await import('./commands/unpack.js')).unpack,
    ),
    search: verb('Find what was said in any session', async () => (await import('./commands/search.js')).search),
    archive: {
      summary: 'Manage the archive of logs; with an agent, the same as agents archive',
      otherwise: verb('Archive an agent', async () => (await import('./commands/archive-agent.js')).archiveAgent),
      entries: {
        list: verb(
          'List what is archived, newest first',
          async () => (await import('./commands/archive/list.js')).list,
        ),
        restore: verb(
          'Write an archived session as a document',
          async () => (await import('./commands/archive/restore.js')).restore,
        ),
        stats: verb(
          'Count what is archived and show how long it is kept',
          async () => (await import('./commands/archive/stats.js')).stats,
        ),
        verify: verb(
          'Check the whole archive for damage',
          async () => (await import('./commands/archive/verify.js')).verify,
        ),
        prune: verb(
          'Remove what the settings no longer keep',
          async () => (await import('./commands/archive/prune.js')).prune,
        ),
      },
    },
    snapshots: {
      summary: 'Manage the snapshots of turns',
      entries: {
        stats: verb(
          'Count snapshots and show the space that they take',
          async () => (await import('./commands/snapshots/stats.js')).stats,
        ),
        gc: verb(
          'Remove expired snapshots and pack the rest',
          async () => (await import('./commands/snapshots/gc.js')).gc,
        ),
        verify: verb(
          'Check that every snapshot can be restored',
          async () => (await import('./commands/snapshots/verify.js')).verify,
        ),
      },
    },
    cost: verb('Show what was spent', async () => (await import('./commands/cost.js')).cost),
    conversations: {
      summary: 'Manage conversations of chat gateways',
      entries: {
        list: verb(
          'List conversations, newest first',
          async () => (await import('./commands/conversations/list.js')).list,
        ),
        show: verb(
          'Show one conversation and its latest messages',
          async () => (await import('./commands/conversations/show.js')).show,
        ),
        set: verb(
          'Change settings of a conversation',
          async () => (await import('./commands/conversations/set.js')).set,
        ),
        remove: verb('Remove a conversation', async () => (await import('./commands/conversations/remove.js')).remove),
        reset: verb('Reset conversations', async () => (await import('./commands/conversations/reset.js')).reset),
        prune: verb(
          'Remove conversations that are no longer used',
          async () => (await import('./commands/conversations/prune.js')).prune,
        ),
        policy: verb(
          'Show whether an agent may send somewhere',
          async () => (await import('./commands/conversations/policy.js')).policy,
        ),
        import: verb(
          'Import conversations from another program',
          async () => (await import('./commands/conversations/import.js')).importConversations,
        ),
        export: verb(
          'Export conversations to another program',
          async () => (await import('./commands/conversations/export.js')).exportConversations,
        ),
      },
    },
    tool: {
      summary: 'Show the agent programs that can be run',
      entries: {
        list: verb(
          'List the agent programs that can be run',
          async () => (await import('./commands/tool/list.js')).list,
        ),
        show: verb(
          'Show how a tool is run and how its screen is read',
          async () => (await import('./commands/tool/show.js')).show,
        ),
        test: verb('Show how a recorded screen is read', async () => (await import('./commands/tool/test.js')).test),
      },
    },
    role: {
      summary: 'Show the roles of agents',
      entries: {
        list: verb('List the roles of agents', async () => (await import('./commands/role/list.js')).list),
        show: verb(
          'Show how agents of a role are named and started',
          async () => (await import('./commands/role/show.js')).show,
        ),
      },
    },
    privacy: {
      summary: 'Show and test the privacy policy',
      entries: {
        check: verb('Show which policy applies here', async () => (await import('./commands/privacy/check.js')).check),
        test: verb('Show what would be kept of a text', async () => (await import('./commands/privacy/test.js')).test),
        apply: verb(
          'Apply the current policy to what is stored',
          async () => (await import('./commands/privacy/apply.js')).apply,
        ),
        audit: verb('Count what was redacted', async () => (await import('./commands/privacy/audit.js')).audit),
      },
    },
    purge: verb(
      'Erase a secret, a path or a session everywhere',
      async () => (await import('./commands/purge.js')).purge,
    ),
    profile: {
      summary: 'Manage profiles (separate homes)',
      entries: {
        list: verb('List profiles', async () => (await import('./commands/profile/list.js')).list),
        create: verb('Create a profile', async () => (await import('./commands/profile/create.js')).create),
        delete: verb(
          'Delete a profile and all it holds',
          async () => (await import('./commands/profile/delete.js')).deleteProfile,
        ),
      },
    },
    next: verb(
      'Go to the agent that has waited for you longest',
      async () => (await import('./commands/next.js')).next,
    ),
    notify: {
      summary: 'Test notifications',
      entries: {
        test: verb('Send a test notification', async () => (await import('./commands/notify/test.js')).test),
      },
    },
    statusline: verb(
      'Print one segment for a status line or a prompt',
      async () => (await import('./commands/statusline.js')).statusline,
    ),
    daemon: {
      summary: 'Control the daemon that watches agents',
      entries: {
        start: verb(
          'Start the daemon of this profile, if none runs',
          async () => (await import('./commands/daemon/start.js')).start,
        ),
        stop: verb('Stop the daemon of this profile', async () => (await import('./commands/daemon/stop.js')).stop),
        status: verb(
          'Show whether the daemon runs and is healthy',
          async () => (await import('./commands/daemon/status.js')).status,
        ),
        logs: verb("Show the daemon's log", async () => (await import('./commands/daemon/logs.js')).logs),
      },
    },
    completion: verb(
      'Print a completion script for your shell',
      async () => (await import('./commands/completion.js')).completion,
    ),
  },
}
