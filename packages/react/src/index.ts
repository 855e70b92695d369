/*
 * Troupe in React: a session is a store, and each hook renders when its part of it changes.
 *
 * <TroupeProvider client={troupe}><Chat /></TroupeProvider>
 * const messages = useMessages()
 * const session = useSession()
 */
export type { ApprovalProps } from './approval.ts'
export { Approval } from './approval.ts'
export type { ActiveRun } from './hooks.ts'
export { useApprovals, useConnection, useMessages, useRun, useSession } from './hooks.ts'
export type { TroupeProviderProps } from './provider.ts'
export { TroupeProvider } from './provider.ts'
