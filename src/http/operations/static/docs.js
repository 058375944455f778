SwaggerUIBundle({
  // The server may be below a path of its own.
  url: new URL('../openapi.json', document.currentScript.src).href,
  dom_id: '#docs',
  deepLinking: true,
  docExpansion: 'none',
  // The page would otherwise show a badge that a third party draws.
  validatorUrl: null,
});
