import { createStore } from './vendor/store.js'

/**
 * @typedef {{ id: string, name: string }} Project
 * @typedef {{ projects: readonly Project[] | null, operates: boolean, owns: boolean, decides: boolean, member: string, project: string | null }} Session `projects`: null while no user
 *   is signed in. `operates`: an admin or owner, who also sees and operates the installation. `owns`: an owner. `decides`: an approver,
 *   admin or owner, who may decide approvals. `member`: the id of the user, '' for none. `project`: the current one.
 */

/** @type {Session} */
const signedOut = { projects: null, operates: false, owns: false, decides: false, member: '', project: null }

/** The signed-in member and the current project, shared by all pages. */
export const session = createStore({
  context: signedOut,
  on: {
    /** @param {Session} _ @param {{ projects: readonly Project[], operates: boolean, owns: boolean, decides: boolean, member: string }} event */
    signedIn: (_, { projects, operates, owns, decides, member }) => ({
      ...{ projects, operates, owns, decides, member, project: projects[0]?.id ?? null },
    }),
    signedOut: () => signedOut,
    /** @param {Session} context @param {{ project: string }} event */
    viewed: (context, { project }) => ({ ...context, project }),
  },
})

/** The current session. */
export const sessionNow = () => session.getSnapshot().context

/** Whether the member has the role that an operation needs. @param {{ role: string } | null} act null: there is no such operation */
export const may = (act) => {
  const { owns, operates, decides } = sessionNow()
  return act !== null && ({ owner: owns, approver: decides, member: true }[act.role] ?? operates)
}
