import { createStore } from './vendor/store.js'

export type Project = Readonly<{ id: string; name: string }>

/**
 * `projects`: null while no user is signed in. `operates`: an admin or owner, who also sees and operates the
 * installation. `owns`: an owner. `decides`: an approver, admin or owner, who may decide approvals. `member`: the id of
 * the user, '' for none. `project`: the current one.
 */
interface Session {
  readonly projects: readonly Project[] | null
  readonly operates: boolean
  readonly owns: boolean
  readonly decides: boolean
  readonly member: string
  readonly project: string | null
}

const signedOut: Session = { projects: null, operates: false, owns: false, decides: false, member: '', project: null }

/** The signed-in member and the current project, shared by all pages. */
export const session = createStore({
  context: signedOut,
  on: {
    signedIn: (_: Session, { signedIn }: { signedIn: Omit<Session, 'project'> }) => ({
      ...{ ...signedIn, project: signedIn.projects?.[0]?.id ?? null },
    }),
    signedOut: () => signedOut,
    viewed: (context: Session, { project }: { project: string }) => ({ ...context, project }),
  },
})

/** The current session. */
export const sessionNow = () => session.getSnapshot().context

/** Whether the member has the role that an operation needs. @param act null: there is no such operation */
export const may = (act: { role: string } | null) => {
  const { owns, operates, decides } = sessionNow()
  return act !== null && ({ owner: owns, approver: decides, member: true }[act.role] ?? operates)
}
