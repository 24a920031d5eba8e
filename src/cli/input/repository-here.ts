import type { Cli } from '../command.js'

interface OfCommit {
  commit?: string | undefined
  repository?: string | undefined
}

/** A commit is looked for in the directory where it is typed. Asked for only then: that directory may be gone. */
export const withRepositoryHere = <Typed extends OfCommit>(typed: Typed, cli: Pick<Cli, 'cwd'>): Typed =>
  typed.commit === undefined ? typed : { ...typed, repository: typed.repository ?? cli.cwd }
