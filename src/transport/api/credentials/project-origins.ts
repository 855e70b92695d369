import type { ProjectDirectory, ProjectSettings } from '#actors/accounts/project-directory.ts'
import type { Origins } from './authenticator.ts'

/**
 * The allowed origins of each project. A preflight has no credential and thus no project: it is answered for any
 * origin, which reveals nothing, since the request that follows is checked against its project's list.
 */
export const projectOrigins = (projects: ProjectDirectory): Origins => ({
  allows: (origin, project) => {
    const settings = projects.settings(project)
    return settings instanceof Promise ? settings.then((known) => lists(known, origin)) : lists(settings, origin)
  },
})

const lists = (settings: ProjectSettings | null, origin: string): boolean =>
  settings !== null && (settings.allowedOrigins.includes('*') || settings.allowedOrigins.includes(origin))
