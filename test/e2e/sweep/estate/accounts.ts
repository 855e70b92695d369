import { randomBytes } from 'node:crypto'
import type { EstatePart } from './estate-part.ts'

const password = 'twelve letters'

const address = (): string => `${randomBytes(6).toString('hex')}@example.com`

/** The estate of the accounts: projects, their keys and members. */
export const accounts: EstatePart = {
  // members belong to the organisation, so their addresses do not contain the mark
  make: async ({ project, dashboard, mark, made }) => ({
    project_id: project,
    key_id: await made(`/api/projects/${project}/keys`, { name: `Key ${mark}` }, dashboard),
    member_id: await made(`/api/projects/${project}/members`, { email: address(), password }, dashboard),
  }),
  bodies: {
    'projects.create': ({ mark }, n) => ({ name: `Project ${mark} ${n}` }),
    'project_keys.create': ({ mark }, n) => ({ name: `Key ${mark} ${n}` }),
    'project_members.create': () => ({ email: address(), password }),
  },
  common: ['project_id', 'member_id'],
  changing: ['project_keys.list'],
  beyondSchema: {
    'project_keys.create': 'expires_at lies in the future',
    'projects.delete': 'the name is the one of the project',
  },
}
