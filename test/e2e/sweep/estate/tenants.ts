import { randomBytes } from 'node:crypto'
import type { EstatePart } from './estate-part.ts'

/** The estate of tenants and their users. The tenant itself, with its resources, is created by `populate`. */
export const tenants: EstatePart = {
  make: async ({ api, mark, id }) => {
    // others may choose the same id, so it does not contain the mark
    const external_user_id = `user-${randomBytes(6).toString('hex')}`
    const user = { display_name: mark, metadata: { mark } }
    await api.fetch(`/v1/tenants/${id('tenant_id')}/users/${external_user_id}`, user, { method: 'PUT' })
    return { external_user_id, user_id: external_user_id, resource_id: id('tenant_id'), subject_id: id('tenant_id') }
  },
  bodies: {
    'tenants.create': ({ mark }, n) => ({ external_id: `tenant-${n}-${mark}`, name: `Tenant ${mark}` }),
    'end_users.create': ({ mark }, n) => ({ external_id: `end-user-${n}-${mark}` }),
  },
  chosen: ['external_user_id', 'user_id'],
  noIds: ['external_id'],
}
