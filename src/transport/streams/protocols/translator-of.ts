import type { StreamProtocol } from '#actors/call/call.ts'
import type { EventReader } from '#actors/call/speaker.ts'
import { AgUi } from './ag-ui.ts'
import type { Translator } from './translator.ts'
import { UiMessages } from './ui-messages.ts'

/** The translator of a new stream. */
export const translatorOf = (protocol: StreamProtocol, reader: EventReader): Translator =>
  protocol.name === 'ag_ui' ? new AgUi(protocol, reader) : new UiMessages(protocol, reader)
