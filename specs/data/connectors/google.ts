import { anyObject, connectorType, reads, text, whole, writes } from './connector-type.ts'

/** Google Workspace. */
export const google = connectorType({
  id: 'google',
  name: 'Google',
  description: 'Mail, calendar and files of a Google account.',
  auth: 'oauth2',
  base_url: 'https://www.googleapis.com',
  oauth: {
    authorization_url: 'https://accounts.google.com/o/oauth2/v2/auth',
    token_url: 'https://oauth2.googleapis.com/token',
    revocation_url: 'https://oauth2.googleapis.com/revoke',
    issuer: 'https://accounts.google.com',
    scopes: [
      'openid',
      'email',
      'https://www.googleapis.com/auth/gmail.readonly',
      'https://www.googleapis.com/auth/calendar.events',
      'https://www.googleapis.com/auth/drive.readonly',
    ],
    token_auth_method: 'client_secret_post',
    parameters: { access_type: 'offline', prompt: 'consent' },
  },
  test: { method: 'GET', path: '/oauth2/v3/userinfo' },
  tools: [
    reads({
      name: 'google_search_mail',
      description: 'Searches mail; returns ids of messages.',
      path: '/gmail/v1/users/me/messages',
      takes: { q: text('Search in the syntax of Gmail.'), 'maxResults?': whole('Most results.') },
    }),
    reads({
      name: 'google_read_mail',
      description: 'Returns a message.',
      path: '/gmail/v1/users/me/messages/{id}',
      takes: { id: text('Id of the message.') },
    }),
    reads({
      name: 'google_list_events',
      description: 'Lists events of the main calendar.',
      path: '/calendar/v3/calendars/primary/events',
      takes: {
        'timeMin?': text('From when on, RFC 3339.'),
        'timeMax?': text('Until when, RFC 3339.'),
        'q?': text('Words of the event.'),
        'maxResults?': whole('Most results.'),
      },
    }),
    writes({
      name: 'google_create_event',
      description: 'Creates an event in the main calendar.',
      path: '/calendar/v3/calendars/primary/events',
      takes: {
        summary: text('Title of the event.'),
        'description?': text('Text of the event.'),
        start: anyObject('`{"dateTime": "<RFC 3339>"}`'),
        end: anyObject('`{"dateTime": "<RFC 3339>"}`'),
      },
    }),
    reads({
      name: 'google_search_files',
      description: 'Searches files of the drive.',
      path: '/drive/v3/files',
      takes: { q: text('Search in the syntax of Drive.'), 'pageSize?': whole('Most results.') },
    }),
  ],
})
