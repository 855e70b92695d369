import { createStore } from './vendor/store.js'

/**
 * @typedef {{ id: string, name: string }} Project
 * @typedef {{ projects: readonly Project[] | null, operates: boolean, decides: boolean, project: string | null }} Session `projects`: null while no user
 *   is signed in. `operates`: members see what is theirs; what the installation consists of is for those who look after it.
 *   `decides`: approvers and those above them decide what waits for a person. `project`: the one that is shown.
 */

/** @type {Session} */
const signedOut = { projects: null, operates: false, decides: false, project: null }

/** The signed-in member and the current project, shared by all pages. */
export const session = createStore({
  context: signedOut,
  on: {
    /** @param {Session} _ @param {{ projects: readonly Project[], operates: boolean, decides: boolean }} event */
    signedIn: (_, { projects, operates, decides }) => ({
      projects,
      operates,
      decides,
      project: projects[0]?.id ?? null,
    }),
    signedOut: () => signedOut,
    /** @param {Session} context @param {{ project: string }} event */
    looked: (context, { project }) => ({ ...context, project }),
  },
})

/** The current session. */
export const sessionNow = () => session.getSnapshot().context
