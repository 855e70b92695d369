import { Troupe } from '@troupe/client'
import type { SignedIn } from '@troupe/client/server'

export const troupe = new Troupe({ baseUrl: process.env.TROUPE_URL ?? '', key: process.env.TROUPE_KEY })

export const signedIn: SignedIn<Request> = () => ({
  tenant_id: process.env.TENANT ?? '',
  external_user_id: 'ada',
  permissions: ['sessions:turn', 'sessions:approve', 'sessions:tools'],
})
