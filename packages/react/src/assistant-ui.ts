/*
 * Sessions for the components of assistant-ui.
 *
 * const runtime = useExternalStoreRuntime(useAssistantUi())
 */
import { useMemo, useSyncExternalStore } from 'react'
import { type AssistantUiFunctions, type AssistantUiStore, assistantUiStore } from './assistant-ui-store.ts'
import { useSession } from './hooks.ts'

export type { AssistantUiFunctions, AssistantUiStore, MessageLike } from './assistant-ui-store.ts'

const none: AssistantUiFunctions = {}

/**
 * Returns what assistant-ui takes of the session of the nearest `TroupeProvider`.
 *
 * @param functions those of `pageFunctions`, the same object each time: calls of those that need approval show one
 */
export const useAssistantUi = (functions: AssistantUiFunctions = none): AssistantUiStore => {
  const session = useSession()
  const state = useSyncExternalStore(session.subscribe, session.getSnapshot, session.getSnapshot)
  return useMemo(() => assistantUiStore(session, state, functions), [session, state, functions])
}
