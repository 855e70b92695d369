import { createContext, createElement, type ReactNode, useState } from 'react'
import type { Session, SessionOptions, Troupe } from '../../client/src/index.ts'

/** Which session the components below show. */
export interface TroupeProviderProps {
  readonly client: Troupe
  /** Id of a session. Without one, the first message creates one. */
  readonly session?: string | null
  /** How a session without an id is created, and the functions of the page. Read when the session is opened. */
  readonly options?: SessionOptions
  readonly children?: ReactNode
}

/** The session of the nearest provider, and the functions of its page. */
export const SessionContext = createContext<{
  readonly opened: Session
  readonly functions: SessionOptions['functions']
} | null>(null)

/** Opens a session for the components below. Another client or id opens another. */
export const TroupeProvider = ({ client, session = null, options, children }: TroupeProviderProps): ReactNode => {
  const open = () => ({
    ...{ client, id: session, functions: options?.functions },
    opened: client.sessions.open(session, options),
  })
  const [held, hold] = useState(open)
  let current = held
  if (held.client !== client || held.id !== session) {
    current = open()
    hold(current)
  }
  return createElement(SessionContext.Provider, { value: current }, children)
}
