import type { StreamProtocol } from '#actors/call/call.ts'
import type { EventReader } from '#actors/call/speaker.ts'
import type { Translator } from './translator.ts'
import { UiMessages } from './ui-messages.ts'

/** The translator of a new stream. */
export const translatorOf = (protocol: StreamProtocol, reader: EventReader): Translator =>
  new UiMessages(protocol, reader)
