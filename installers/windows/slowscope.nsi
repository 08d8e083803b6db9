; Installs for the current user, without an administrator; /S does it silently.
;
;   makensis "-XTarget amd64-unicode" -DVERSION=0.1.0 -DBUNDLE=..\..\dist\slowscope -DOUT=setup.exe slowscope.nsi
;
; It adds itself to the programs that can open .gguf and takes the file type from nobody.

Unicode true
!include "MUI2.nsh"
!include "FileFunc.nsh"

!ifndef VERSION | BUNDLE | OUT
  !error "give -DVERSION, -DBUNDLE (the folder that PyInstaller made) and -DOUT"
!endif

!define NAME "Slowscope"
!define SLUG "slowscope"
!define PROGID "Slowscope.gguf"
!define UNINSTALL "Software\Microsoft\Windows\CurrentVersion\Uninstall\${NAME}"
!define RESOURCES "..\..\resources" ; makensis reads from the folder of this file

Name "${NAME}"
OutFile "${OUT}"
InstallDir "$LOCALAPPDATA\Programs\${NAME}"
InstallDirRegKey HKCU "${UNINSTALL}" "InstallLocation"
RequestExecutionLevel user
SetCompressor /SOLID lzma
ManifestDPIAware true
VIProductVersion "${VERSION}.0"
VIAddVersionKey "ProductName" "${NAME}"
VIAddVersionKey "ProductVersion" "${VERSION}"
VIAddVersionKey "FileVersion" "${VERSION}"
VIAddVersionKey "FileDescription" "${NAME} installer"
VIAddVersionKey "LegalCopyright" "MIT licence"

!define MUI_ICON "${RESOURCES}\app.ico"
!define MUI_UNICON "${RESOURCES}\app.ico"
!define MUI_FINISHPAGE_RUN "$INSTDIR\${SLUG}.exe"
!insertmacro MUI_PAGE_DIRECTORY
!insertmacro MUI_PAGE_INSTFILES
!insertmacro MUI_PAGE_FINISH
!insertmacro MUI_UNPAGE_CONFIRM
!insertmacro MUI_UNPAGE_INSTFILES
!insertmacro MUI_LANGUAGE "English"

; Windows looks at the file types again only when it is told
!macro TellWindows
  System::Call 'shell32::SHChangeNotify(i 0x08000000, i 0, p 0, p 0)'
!macroend

Section "Install"
  ; an older version may have files that this one has not
  RMDir /r "$INSTDIR\_internal"
  SetOutPath "$INSTDIR"
  File /r "${BUNDLE}\*"
  File "/oname=app.ico" "${RESOURCES}\app.ico"
  WriteUninstaller "$INSTDIR\uninstall.exe"
  CreateShortcut "$SMPROGRAMS\${NAME}.lnk" "$INSTDIR\${SLUG}.exe" "" "$INSTDIR\app.ico"

  WriteRegStr HKCU "Software\Classes\${PROGID}" "" "GGUF language model"
  WriteRegStr HKCU "Software\Classes\${PROGID}\DefaultIcon" "" "$INSTDIR\app.ico"
  WriteRegStr HKCU "Software\Classes\${PROGID}\shell\open\command" "" '"$INSTDIR\${SLUG}.exe" "%1"'
  WriteRegStr HKCU "Software\Classes\.gguf\OpenWithProgids" "${PROGID}" ""

  ; the page "Default apps" of the settings
  WriteRegStr HKCU "Software\${NAME}\Capabilities" "ApplicationName" "${NAME}"
  WriteRegStr HKCU "Software\${NAME}\Capabilities" "ApplicationDescription" \
    "Find out why the language model on this computer is slow"
  WriteRegStr HKCU "Software\${NAME}\Capabilities\FileAssociations" ".gguf" "${PROGID}"
  WriteRegStr HKCU "Software\RegisteredApplications" "${NAME}" "Software\${NAME}\Capabilities"

  WriteRegStr HKCU "${UNINSTALL}" "DisplayName" "${NAME}"
  WriteRegStr HKCU "${UNINSTALL}" "DisplayVersion" "${VERSION}"
  WriteRegStr HKCU "${UNINSTALL}" "DisplayIcon" "$INSTDIR\app.ico"
  WriteRegStr HKCU "${UNINSTALL}" "Publisher" "The ${NAME} developers"
  WriteRegStr HKCU "${UNINSTALL}" "InstallLocation" "$INSTDIR"
  WriteRegStr HKCU "${UNINSTALL}" "UninstallString" '"$INSTDIR\uninstall.exe"'
  WriteRegStr HKCU "${UNINSTALL}" "QuietUninstallString" '"$INSTDIR\uninstall.exe" /S'
  WriteRegDWORD HKCU "${UNINSTALL}" "NoModify" 1
  WriteRegDWORD HKCU "${UNINSTALL}" "NoRepair" 1
  ${GetSize} "$INSTDIR" "/S=0K" $0 $1 $2
  IntFmt $0 "0x%08X" $0
  WriteRegDWORD HKCU "${UNINSTALL}" "EstimatedSize" "$0"
  !insertmacro TellWindows
SectionEnd

Section "Uninstall"
  ; only what was installed: the folder may have been chosen by the user
  RMDir /r "$INSTDIR\_internal"
  Delete "$INSTDIR\${SLUG}.exe"
  Delete "$INSTDIR\${SLUG}-cli.exe"
  Delete "$INSTDIR\app.ico"
  Delete "$INSTDIR\uninstall.exe"
  RMDir "$INSTDIR"
  Delete "$SMPROGRAMS\${NAME}.lnk"

  DeleteRegKey HKCU "Software\Classes\${PROGID}"
  DeleteRegValue HKCU "Software\Classes\.gguf\OpenWithProgids" "${PROGID}"
  DeleteRegKey /ifempty HKCU "Software\Classes\.gguf\OpenWithProgids"
  DeleteRegKey /ifempty HKCU "Software\Classes\.gguf"
  DeleteRegValue HKCU "Software\RegisteredApplications" "${NAME}"
  DeleteRegKey HKCU "Software\${NAME}\Capabilities"
  DeleteRegKey /ifempty HKCU "Software\${NAME}"
  DeleteRegKey HKCU "${UNINSTALL}"
  !insertmacro TellWindows
SectionEnd
