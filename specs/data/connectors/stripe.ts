import { connectorType, reads, text, whole, writes } from './connector-type.ts'

/** Stripe. */
export const stripe = connectorType({
  id: 'stripe',
  name: 'Stripe',
  description: 'Customers, payments and invoices of a Stripe account, by a restricted key.',
  auth: 'api_key',
  base_url: 'https://api.stripe.com/v1',
  test: { method: 'GET', path: '/balance' },
  tools: [
    reads({
      name: 'stripe_search_customers',
      description: 'Searches customers.',
      path: '/customers/search',
      takes: {
        query: text("Search in the syntax of Stripe, such as email:'a@b.c'."),
        'limit?': whole('Most results.'),
      },
    }),
    reads({
      name: 'stripe_list_payments',
      description: 'Lists payments, newest first.',
      path: '/payment_intents',
      takes: { 'customer?': text('Id of the customer.'), 'limit?': whole('Most results.') },
    }),
    reads({
      name: 'stripe_list_invoices',
      description: 'Lists invoices, newest first.',
      path: '/invoices',
      takes: { 'customer?': text('Id of the customer.'), 'limit?': whole('Most results.') },
    }),
    writes({
      name: 'stripe_create_customer',
      description: 'Creates a customer.',
      path: '/customers',
      encoding: 'form',
      takes: { 'email?': text('E-mail address.'), 'name?': text('Name.'), 'description?': text('Note.') },
    }),
    writes({
      name: 'stripe_refund_payment',
      description: 'Refunds a payment.',
      path: '/refunds',
      encoding: 'form',
      risk_level: 'critical',
      takes: { payment_intent: text('Id of the payment.'), 'amount?': whole('Smallest units; default: all of it.') },
    }),
  ],
})
