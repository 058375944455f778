/** How the documentation groups these routes. */
export const TAG = 'Feedback';
