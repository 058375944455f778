/** Shows the manual of a group of calls: its first sentence beside the name, the rest in front of the calls. */
function manual({ React, getComponent }) {
  const showGroup = (Group) =>
    function GroupWithManual({ tagObj, children, ...others }) {
      const path = ['tagDetails', 'description'];
      const [sentence, ...rest] = (tagObj.getIn(path) ?? '').split('\n\n');
      const text = React.createElement(getComponent('Markdown', true), { source: rest.join('\n\n') });
      return React.createElement(
        Group,
        { ...others, tagObj: tagObj.setIn(path, sentence) },
        React.createElement('div', { className: 'manual' }, text),
        children,
      );
    };
  return { wrapComponents: { OperationTag: showGroup } };
}

SwaggerUIBundle({
  // The server may be below a path of its own.
  url: new URL('../openapi.json', document.currentScript.src).href,
  dom_id: '#docs',
  deepLinking: true,
  docExpansion: 'none',
  plugins: [manual],
  // The page would otherwise show a badge that a third party draws.
  validatorUrl: null,
});
