import { useCallback, useContext, useRef, useSyncExternalStore } from 'react'
import type {
  Connection,
  Message,
  PendingAction,
  Run,
  Session,
  SessionState,
  TroupeError,
} from '../../client/src/index.ts'
import { SessionContext } from './provider.ts'

/** Returns what the nearest `TroupeProvider` holds. */
export const useProvided = () => {
  const provided = useContext(SessionContext)
  if (provided === null) throw new Error('Render this component inside <TroupeProvider client={…}>.')
  return provided
}

/** Returns the session of the nearest `TroupeProvider`. */
export const useSession = (): Session => useProvided().opened

/** Renders when what `select` returns is another value: of the state, whose parts keep their identity. */
const useSelected = <T>(select: (state: SessionState) => T): T => {
  const session = useSession()
  const get = () => select(session.getSnapshot())
  // a server renders what the store has without reading, and so does the first render of a page
  return useSyncExternalStore(session.subscribe, get, get)
}

const all = (messages: readonly Message[]): readonly Message[] => messages

/**
 * Returns the messages, or what `select` makes of them. A component renders when the result changes; a list that is
 * made anew counts as the same if its items are.
 */
export function useMessages(): readonly Message[]
export function useMessages<T>(select: (messages: readonly Message[]) => T): T
export function useMessages(select: (messages: readonly Message[]) => unknown = all): unknown {
  const last = useRef<unknown>(undefined)
  return useSelected(({ messages }) => {
    const next = select(messages)
    if (!isSame(next, last.current)) last.current = next
    return last.current
  })
}

const isSame = (one: unknown, other: unknown): boolean =>
  Object.is(one, other) ||
  (Array.isArray(one) &&
    Array.isArray(other) &&
    one.length === other.length &&
    one.every((each, at) => each === other[at]))

/** Returns the tool calls that wait. */
export const useApprovals = (): readonly PendingAction[] => useSelected(({ approvals }) => approvals)

/** What the session does, and how to send and stop. */
export interface ActiveRun extends Run {
  readonly isIdle: boolean
  readonly send: Session['send']
  readonly stop: Session['stop']
}

/** Returns what the session does. */
export const useRun = (): ActiveRun => {
  const session = useSession()
  const run = useSelected((state) => state.run)
  const send: Session['send'] = useCallback((...message) => session.send(...message), [session])
  const stop = useCallback(() => session.stop(), [session])
  return { ...run, isIdle: run.status === 'idle', send, stop }
}

/** Returns how the session is connected, and why the newest request or connection failed. */
export const useConnection = (): { readonly status: Connection; readonly error: TroupeError | null } => ({
  status: useSelected(({ connection }) => connection),
  error: useSelected(({ error }) => error),
})
