import { createStore } from './vendor/store.js'

/**
 * @typedef {{ id: string, name: string }} Project
 * @typedef {{ projects: readonly Project[] | null, operates: boolean, decides: boolean, member: string, project: string | null }} Session `projects`: null while no user
 *   is signed in. `operates`: an admin or owner, who also sees and operates the installation. `decides`: an approver,
 *   admin or owner, who may decide approvals. `member`: the id of the user, '' for none. `project`: the current one.
 */

/** @type {Session} */
const signedOut = { projects: null, operates: false, decides: false, member: '', project: null }

/** The signed-in member and the current project, shared by all pages. */
export const session = createStore({
  context: signedOut,
  on: {
    /** @param {Session} _ @param {{ projects: readonly Project[], operates: boolean, decides: boolean, member: string }} event */
    signedIn: (_, { projects, operates, decides, member }) => ({
      ...{ projects, operates, decides, member, project: projects[0]?.id ?? null },
    }),
    signedOut: () => signedOut,
    /** @param {Session} context @param {{ project: string }} event */
    viewed: (context, { project }) => ({ ...context, project }),
  },
})

/** The current session. */
export const sessionNow = () => session.getSnapshot().context
