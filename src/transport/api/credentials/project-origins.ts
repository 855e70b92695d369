import type { ProjectDirectory, ProjectSettings } from '#actors/accounts/project-directory.ts'
import type { Origins } from './authenticator.ts'

/**
 * Origins as each project allows them. A preflight carries no credential and so names no project: it is answered to any
 * origin, which gives nothing away, since the request that follows is answered under its project's own list.
 */
export const projectOrigins = (projects: ProjectDirectory): Origins => ({
  allows: (origin, project) => {
    const settings = projects.settings(project)
    return settings instanceof Promise ? settings.then((known) => lists(known, origin)) : lists(settings, origin)
  },
})

const lists = (settings: ProjectSettings | null, origin: string): boolean =>
  settings !== null && (settings.allowedOrigins.includes('*') || settings.allowedOrigins.includes(origin))
