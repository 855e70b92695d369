/*
 * Sessions for the components of assistant-ui.
 *
 * const runtime = useExternalStoreRuntime(useAssistantUi())
 */
import { useMemo, useSyncExternalStore } from 'react'
import { type AssistantUiStore, assistantUiStore } from './assistant-ui-store.ts'
import { useProvided } from './hooks.ts'
import { partsOf, useImageUrls } from './image-urls.ts'

export type { AssistantUiStore, MessageLike } from './assistant-ui-store.ts'

/** Returns what assistant-ui takes of the session of the nearest `TroupeProvider`. */
export const useAssistantUi = (): AssistantUiStore => {
  const { opened: session, functions } = useProvided()
  const state = useSyncExternalStore(session.subscribe, session.getSnapshot, session.getSnapshot)
  const images = useImageUrls(session, partsOf(state.messages))
  const store = () => assistantUiStore(session, state, { functions, images })
  return useMemo(store, [session, state, functions, images])
}
