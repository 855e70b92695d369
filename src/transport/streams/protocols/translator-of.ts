import type { StreamProtocol } from '#actors/call/call.ts'
import type { EventReader } from '#actors/call/speaker.ts'
import { A2a } from './a2a.ts'
import { AgUi } from './ag-ui.ts'
import type { Translator } from './translator.ts'
import { UiMessages } from './ui-messages.ts'

/** The translator of a new stream. */
export const translatorOf = (protocol: StreamProtocol, reader: EventReader): Translator => {
  switch (protocol.name) {
    case 'ui_messages':
      return new UiMessages(protocol, reader)
    case 'ag_ui':
      return new AgUi(protocol, reader)
    case 'a2a':
      return new A2a(protocol, reader)
  }
}
