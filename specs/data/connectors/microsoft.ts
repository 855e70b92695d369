import { anyObject, connectorType, reads, text, whole, writes } from './connector-type.ts'

/** Microsoft 365. */
export const microsoft = connectorType({
  id: 'microsoft',
  name: 'Microsoft 365',
  description: 'Mail, calendar and files of a Microsoft account, by Microsoft Graph.',
  auth: 'oauth2',
  base_url: 'https://graph.microsoft.com/v1.0',
  oauth: {
    authorization_url: 'https://login.microsoftonline.com/common/oauth2/v2.0/authorize',
    token_url: 'https://login.microsoftonline.com/common/oauth2/v2.0/token',
    revocation_url: null,
    issuer: null,
    scopes: ['offline_access', 'User.Read', 'Mail.Read', 'Calendars.ReadWrite', 'Files.Read'],
    token_auth_method: 'client_secret_post',
  },
  test: { method: 'GET', path: '/me' },
  tools: [
    reads({
      name: 'microsoft_list_mail',
      description: 'Lists messages of the mailbox.',
      path: '/me/messages',
      takes: { '$search?': text('Words in quotation marks.'), '$top?': whole('Most results.') },
    }),
    reads({
      name: 'microsoft_read_mail',
      description: 'Returns a message.',
      path: '/me/messages/{id}',
      takes: { id: text('Id of the message.') },
    }),
    reads({
      name: 'microsoft_list_events',
      description: 'Lists events of the calendar between two times.',
      path: '/me/calendarView',
      takes: { startDateTime: text('RFC 3339.'), endDateTime: text('RFC 3339.'), '$top?': whole('Most results.') },
    }),
    writes({
      name: 'microsoft_create_event',
      description: 'Creates an event in the calendar.',
      path: '/me/events',
      takes: {
        subject: text('Title of the event.'),
        start: anyObject('`{"dateTime": "…", "timeZone": "UTC"}`'),
        end: anyObject('`{"dateTime": "…", "timeZone": "UTC"}`'),
        'body?': anyObject('`{"contentType": "text", "content": "…"}`'),
      },
    }),
  ],
})
